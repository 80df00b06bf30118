/** Somebody else changed the same thing meanwhile: theirs beside yours, and both ways forward. Nothing typed is lost. */
import { Alert, Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { lazy, Suspense } from 'react';
import { RefusedError } from '../api.ts';
import { failureText } from '../forms.ts';
import { Loading } from './states.tsx';

const SideBySide = lazy(async () => ({ default: (await import('./side-by-side.tsx')).SideBySide }));

export const isConflict = (error: unknown): boolean => error instanceof RefusedError && error.code === 'CONFLICT';

/** Reads what somebody else has saved. Undefined, and said, where that is not possible now: the same click works later. */
export async function readTheirs<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const message = `Somebody else has changed it meanwhile, and theirs cannot be read now. Your changes are still here. ${failureText(error)}`;
    notifications.show({ color: 'red', title: 'Not saved', message });
    return undefined;
  }
}

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
