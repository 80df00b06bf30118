/** Draws the dialogs that ask for confirmation, and the notifications. See `overlays.tsx`. */
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { useEffect } from 'react';

export function OverlayHost({ onReady }: { onReady: () => void }) {
  // After the effects of the provider, which listens from then on.
  useEffect(onReady, [onReady]);
  return (
    <ModalsProvider>
      <Notifications position="bottom-right" limit={3} />
    </ModalsProvider>
  );
}
