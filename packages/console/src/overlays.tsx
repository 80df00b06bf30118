/** Dialogs that ask and notifications. They are no part of the first load: they come soon after it, or when the first one is to be shown. */
import { modals } from '@mantine/modals';
import { notificationsStore } from '@mantine/notifications';
import { lazy, Suspense } from 'react';

const TRY_AGAIN_MS = 5_000;
const wanted = Promise.withResolvers<void>();
const ready = Promise.withResolvers<void>();
// The store keeps what is shown before there is a place for it.
notificationsStore.subscribe(() => wanted.resolve());

const Host = lazy(async () => {
  await wanted.promise;
  return { default: (await loadHost()).OverlayHost };
});
async function loadHost(): Promise<typeof import('./overlay-host.tsx')> {
  for (;;)
    try {
      return await import('./overlay-host.tsx');
    } catch {
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS)); // the service is away, and the page says so
    }
}

const onReady = () => ready.resolve();
export function Overlays() {
  return (
    <Suspense>
      <Host onReady={onReady} />
    </Suspense>
  );
}
export const loadOverlays = (): void => wanted.resolve();

/** Asks before something is done. */
export function openConfirmModal(question: Parameters<typeof modals.openConfirmModal>[0]): void {
  loadOverlays();
  void ready.promise.then(() => modals.openConfirmModal(question));
}
