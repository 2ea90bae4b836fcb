// SPDX-License-Identifier: Apache-2.0
// The keys of the page, asked for by "?".
import { useEffect, useRef } from 'preact/hooks';
import { type Keys, takesKeys } from './keys';

export function Help({ groups }: { groups: [title: string, keys: Keys][] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const asked = (event: KeyboardEvent) => {
      if (event.key !== '?' || takesKeys(event.target)) return;
      event.preventDefault();
      if (dialog.current!.open) dialog.current!.close();
      else dialog.current!.showModal();
    };
    addEventListener('keydown', asked);
    return () => removeEventListener('keydown', asked);
  }, []);
  return (
    <>
      <button type="button" aria-label="Keys" title="Keys (?)" onClick={() => dialog.current!.showModal()}>
        ?
      </button>
      <dialog
        ref={dialog}
        aria-label="Keys"
        onClick={(event) => {
          if (event.target === dialog.current) dialog.current!.close();
        }}
      >
        <div class="title-row">
          <h2>Keys</h2>
          <button type="button" onClick={() => dialog.current!.close()}>
            Close
          </button>
        </div>
        {groups.map(([title, keys]) => (
          <>
            <h3>{title}</h3>
            <dl class="key-list">
              {keys.map(([names, what]) => (
                <div>
                  <dt>
                    {names.map((name, i) => (
                      <>
                        {i > 0 && ' + '}
                        <kbd>{name}</kbd>
                      </>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </>
        ))}
      </dialog>
    </>
  );
}
