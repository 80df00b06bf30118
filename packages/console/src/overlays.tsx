/**
 * Where questions and notifications are drawn. It is no part of the first load: it comes with a page that asks, or when the first
 * notification is to be shown.
 */
import { notificationsStore } from '@mantine/notifications';
import { lazy, Suspense } from 'react';

const TRY_AGAIN_MS = 5_000;
const wanted = Promise.withResolvers<void>();
const ready = Promise.withResolvers<void>();
// A notification that is shown before the host is loaded waits in the store.
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
/** Whoever asks then is heard. */
export const overlaysReady = ready.promise;
