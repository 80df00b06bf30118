import { useBlocker } from '@tanstack/react-router';

/** Asks before a page with unsaved changes is left or closed. */
export function useUnsaved(unsaved: boolean): void {
  useBlocker({
    shouldBlockFn: () => !confirm('Leave without saving? What you typed here is lost.'),
    enableBeforeUnload: unsaved,
    disabled: !unsaved,
  });
}
