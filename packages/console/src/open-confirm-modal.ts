/** Asks before something is done. */
import { modals } from '@mantine/modals';
// Loaded with every page that asks: a question must be there also when the service is away.
import './overlay-host.tsx';
import { loadOverlays, overlaysReady } from './overlays.tsx';

loadOverlays();

type Question = Parameters<typeof modals.openConfirmModal>[0];

export function openConfirmModal({ onConfirm, ...question }: Question): void {
  // The button is there until the dialog has faded: a second press of it must not do the same again.
  let isConfirmed = false;
  const confirmOnce = () => {
    if (isConfirmed) return;
    isConfirmed = true;
    onConfirm?.();
  };
  void overlaysReady.then(() => modals.openConfirmModal({ ...question, onConfirm: confirmOnce }));
}
