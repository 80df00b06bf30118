import { useEffect, useState } from 'react';
import { clockTime } from '../format.ts';
import { Tag } from './tag.tsx';

/** Numbers older than this are not shown as current. */
const OLD_MS = 45_000;

/** Says when numbers were read, once they are old. `at`: undefined where they are live. */
export function AsOf({ at }: { at: number | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 5_000);
    return () => clearInterval(timer);
  }, [at]);
  if (at === undefined || at === 0 || now - at < OLD_MS) return null;
  return (
    <p role="status">
      <Tag tone="warn">Not current: these numbers are from {clockTime(new Date(at).toISOString()).slice(0, -4)}</Tag>
    </p>
  );
}
