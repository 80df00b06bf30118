/** One try to deliver an event: when, what the vendor answered, how long it took. */
import { milliseconds, zonedTime } from '../format.ts';
import { readReason } from './read-reason.ts';
import { Reason } from './reason.tsx';
import { Tag } from './tag.tsx';

export interface AttemptProps {
  attempt: { at: string; status: number | null; error: string | null; duration_ms: number | null };
  /** The time as it is shown. */
  time: string;
}
export function Attempt({ attempt: { at, status, error, duration_ms }, time }: AttemptProps) {
  // A reason that begins with the status says it itself.
  const isSaid = error !== null && readReason(error).code !== undefined;
  return (
    <>
      <span className="mono" title={zonedTime(at)}>
        {time}
      </span>{' '}
      {!isSaid && <Tag tone={error === null ? 'ok' : 'bad'}>{status ?? 'no answer'}</Tag>} {error !== null && <Reason text={error} long />}{' '}
      <span className="dim">{milliseconds(duration_ms)}</span>
    </>
  );
}
