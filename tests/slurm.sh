#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A sweep as a job array of a real Slurm on this machine alone: of its 20 tasks one is killed and
# one requeued while they run; merged, their results are those of the same sweep without Slurm, byte
# for byte. Runs as root, with slurmctld, slurmd, munge and Slurm's client commands installed.
# Usage: slurm.sh PROGRAM FOLDER
set -euo pipefail
program=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# --- A Slurm of our own: loopback only, no cgroups, no accounting
mkdir -p munge state spool
chmod 711 "$folder" && chmod 755 munge
dd if=/dev/urandom of=munge/key bs=1024 count=1 status=none
chmod 400 munge/key
ports=(16817 16818)
cat > slurm.conf <<CONF
ClusterName=sweep
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
AuthType=auth/munge
# A requeued task waits until its first credential has expired: 120 s by default.
AuthInfo=socket=$PWD/munge/socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2
ReturnToService=2
MpiDefault=none
KillWait=5
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$PWD/slurm.conf
stop() {
  local name
  for name in slurmd slurmctld munged; do
    [[ -f $name.pid ]] && kill "$(cat "$name.pid")" 2> /dev/null || true
  done
}
trap stop EXIT
munged --force --socket="$PWD/munge/socket" --key-file="$PWD/munge/key" \
  --pid-file="$PWD/munged.pid" --log-file="$PWD/munge/log" --seed-file="$PWD/munge/seed"
slurmctld
slurmd -N localhost
for ((i = 0; i < 100; ++i)); do
  [[ $(sinfo --noheader --format=%T 2> /dev/null) == idle ]] && break
  sleep 0.2
done
sinfo

# --- The sweep, without Slurm and as an array
cat > sweep.yaml <<'YAML'
base:
  model: gpt3-175b
  cluster: {node: dgx-a100-80gb, nodes: 128}
  training: {sequence_length: 2048, global_batch: 1536}
  plan: {micro_batch: 1}
vary:
  training.sequence_length: {from: 1024, to: 4096, step: 64}
  plan.tensor: [4, 8]
  plan.pipeline: [8, 12, 16]
  plan.zero: [0, 1]
  plan.recompute: [none, selective, full]
YAML
"$program" sweep sweep.yaml --store alone.sqlite --csv alone.csv --quiet
"$program" sweep sweep.yaml --store array.sqlite --emit slurm --shards 20 --quiet > array.sh
sed 's/^/  | /' array.sh
began=$SECONDS
job=$(sbatch --parsable array.sh)

# The pid of a task's program, once it runs.
pid_of() {
  local pid
  for ((i = 0; i < 6000; ++i)); do
    if pid=$(pgrep -f -- "--store $PWD/array.sqlite --shard $1/20 "); then
      echo "$pid"
      return
    fi
    sleep 0.05
  done
  echo "task $1 never ran" >&2
  return 1
}
kill -9 "$(pid_of 3)"
echo "killed task 3 after $((SECONDS - began)) s"
pid_of 6 > /dev/null
scontrol requeue "${job}_6"
echo "requeued task 6 after $((SECONDS - began)) s"

while [[ -n $(squeue --noheader) ]]; do
  if ((SECONDS - began > 900)); then
    squeue
    echo "tasks are still there after 900 s" >&2
    exit 1
  fi
  sleep 0.5
done
grep -q Killed "slurm-${job}_3.out"
grep -q REQUEUE "slurm-${job}_6.out"
echo "20 tasks took $((SECONDS - began)) s"
"$program" sweep merge array.shard-*-of-20.sqlite
"$program" sweep export array.sqlite | cmp - alone.csv
echo "the array's points are those of the sweep alone, byte for byte"
