import { useBlocker } from '@tanstack/react-router';

interface Place {
  pathname: string;
  search: object;
}

/** Asks before a page or dialog with unsaved changes is left or closed. `leaves` says which navigations remove what was typed; all do by default. */
export function useUnsaved(unsaved: boolean, leaves: (next: Place, current: Place) => boolean = () => true): void {
  useBlocker({
    shouldBlockFn: ({ current, next }) => leaves(next, current) && !confirm('Leave without saving? What you typed here is lost.'),
    enableBeforeUnload: unsaved,
    disabled: !unsaved,
  });
}
