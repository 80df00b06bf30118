import { type RefObject, useLayoutEffect, useRef } from 'react';

/** For a panel beside its list: where it is closed from inside, the focus goes back to where it was opened. */
export function useReturnFocus<T extends HTMLElement>(): RefObject<T | null> {
  const panel = useRef<T>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const box = panel.current;
    return () => {
      if (opener instanceof HTMLElement && box?.contains(document.activeElement)) opener.focus();
    };
  }, []);
  return panel;
}
