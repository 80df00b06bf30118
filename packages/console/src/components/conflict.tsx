/** Somebody else changed the same thing meanwhile: theirs beside yours, and both ways forward. Nothing typed is lost. */
import { Alert, Button, Group } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { RefusedError } from '../api.ts';
import { Loading } from './states.tsx';

const SideBySide = lazy(async () => ({ default: (await import('./side-by-side.tsx')).SideBySide }));

export const isConflict = (error: unknown): boolean => error instanceof RefusedError && error.code === 'CONFLICT';

export interface ConflictProps {
  /** For example `the data layer`. */
  what: string;
  theirs: unknown;
  mine: unknown;
  onTakeTheirs: () => void;
  onKeepMine: () => void;
  busy: boolean;
}

export function Conflict({ what, theirs, mine, onTakeTheirs, onKeepMine, busy }: ConflictProps) {
  return (
    <Alert color="yellow" role="alert" title={`Somebody else has changed ${what} meanwhile`} mb="md">
      Your changes are still here. Theirs are on the left, yours on the right.
      <Suspense fallback={<Loading what="the comparison" />}>
        <SideBySide left={textOf(theirs)} right={textOf(mine)} />
      </Suspense>
      <Group mt="xs" gap="xs">
        <Button variant="default" onClick={onTakeTheirs}>
          Take theirs
        </Button>
        <Button color="red" loading={busy} onClick={onKeepMine}>
          Replace theirs with mine
        </Button>
      </Group>
    </Alert>
  );
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));
