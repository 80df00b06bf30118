/** Where dialogs that ask and notifications are drawn. See `overlays.tsx`. */
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
