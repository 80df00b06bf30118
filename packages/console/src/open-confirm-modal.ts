/** Asks before something is done. */
import { modals } from '@mantine/modals';
// Loaded with every page that asks: a question must be there also when the service is away.
import './overlay-host.tsx';
import { loadOverlays, overlaysReady } from './overlays.tsx';

loadOverlays();

export function openConfirmModal(question: Parameters<typeof modals.openConfirmModal>[0]): void {
  void overlaysReady.then(() => modals.openConfirmModal(question));
}
