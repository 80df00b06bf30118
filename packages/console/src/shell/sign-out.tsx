import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
// Loaded with it: the notice must be there also when the service is away.
import '../overlay-host.tsx';
import { session } from '../session/session.ts';

const NOTICE = 'sign-out';

/** Signs out, or says that the session still exists: a user who leaves a shared computer must know. */
export async function signOut(everywhere = false): Promise<void> {
  notifications.hide(NOTICE);
  if (await session.signOut(everywhere)) return;
  notifications.show({
    id: NOTICE,
    color: 'red',
    autoClose: false,
    title: 'You are still signed in',
    message: (
      <>
        <p>The service did not confirm the sign-out. Your session goes on until it does.</p>
        <Button variant="default" onClick={() => void signOut(everywhere)}>
          Sign out again
        </Button>
      </>
    ),
  });
}
