const CONTROLS = 'a[href], button, input, select, textarea, [tabindex="0"]';
const controlsIn = (box: Element): HTMLElement[] => [...box.querySelectorAll<HTMLElement>(CONTROLS)];
/** These give the focus back by themselves, to the control that opened them. */
const OVERLAYS = '[role="dialog"], [role="menu"], [role="listbox"]';

/**
 * Where a focused control goes away with its row, the browser gives the focus to the body, and the keyboard begins at the top of the page.
 * It goes to the same control of the next row instead; after the last row, to the first control beside the list. A row that was only moved
 * keeps the focus.
 */
export function keepFocus(): void {
  let last: Element | undefined;
  let next: (() => HTMLElement | undefined) | undefined;
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || target.closest(OVERLAYS) !== null) return;
    last = target;
    next = undefined;
  });
  new MutationObserver((records) => {
    for (const record of records)
      for (const removed of record.removedNodes)
        if (last !== undefined && removed instanceof Element && removed.contains(last)) next = successor(last, removed, record);
    // The page's own code comes first: it may know a better place.
    if (next !== undefined) requestAnimationFrame(() => document.activeElement === document.body && next?.()?.focus());
  }).observe(document.body, { childList: true, subtree: true });
}

function successor(last: Element, removed: Element, { target, nextSibling, previousSibling }: MutationRecord) {
  const at = controlsIn(removed).indexOf(last as HTMLElement);
  return (): HTMLElement | undefined => {
    if (last.isConnected) return last as HTMLElement;
    for (const row of [nextSibling, previousSibling]) {
      const isRow = row instanceof Element && row.isConnected && row.tagName === removed.tagName && row.className === removed.className;
      const controls = isRow ? controlsIn(row) : [];
      if (controls.length > 0) return controls[at] ?? controls[0];
    }
    // A link that went away led to another page.
    if (last.tagName !== 'BUTTON') return undefined;
    for (let box = target as Element | null; box?.closest('main'); box = box.parentElement) {
      const control = controlsIn(box).find((each) => each.checkVisibility());
      if (control !== undefined) return control;
    }
    return undefined;
  };
}
