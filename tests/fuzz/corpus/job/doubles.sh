A=(a b)
A=(${A[@]} ${A[@]})
A=(${A[@]} ${A[@]})
python x.py --num-layers ${A[@]} --bf16 --fp16 --lr $A
