import { splitMessage } from './read-reason.ts';
import { Reason } from './reason.tsx';

/** A message of the service. A vendor's answer inside it is shown as its sentence for people. */
export function Message({ text }: { text: string }) {
  const { before, reason, after } = splitMessage(text);
  return (
    <>
      {before}
      {reason !== undefined && <Reason text={reason} long />}
      {after}
    </>
  );
}
