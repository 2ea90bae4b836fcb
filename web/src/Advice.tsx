// SPDX-License-Identifier: Apache-2.0
// A sentence in which `keys of scenario files` stand out.
export function Advice({ text }: { text: string | undefined }) {
  return <>{(text ?? '').split('`').map((part, i) => (i % 2 === 1 ? <code>{part}</code> : part))}</>;
}
