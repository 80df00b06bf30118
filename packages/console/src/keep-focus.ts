const CONTROLS = 'a[href], button, input, select, textarea, [tabindex="0"]';
const controlsIn = (box: Element): HTMLElement[] => [...box.querySelectorAll<HTMLElement>(CONTROLS)];
/** These give the focus back by themselves, to the control that opened them. */
const DIALOG = '[role="dialog"]';
const LISTS = '[role="menu"], [role="listbox"]';

/**
 * Where a focused control goes away with its row, the browser gives the focus to the body, and the keyboard begins at the top of the page.
 * It goes to the same control of the next row instead; after the last row, to the first control beside the list. A row that was only moved
 * keeps the focus. In a dialog that goes on to its next step the focus goes to the first control of that step. A button that was out of use
 * while it worked gets the focus back.
 */
export function keepFocus(): void {
  const page = new Focus('main');
  const dialog = new Focus(DIALOG);
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || target.closest(LISTS) !== null) return;
    if (target.closest(DIALOG) === null) page.moved(target);
    else dialog.moved(target);
  });
  new MutationObserver((records) => {
    for (const record of records)
      for (const focus of [dialog, page]) {
        if (record.type === 'attributes') focus.disabled(record.target);
        for (const removed of record.removedNodes) if (removed instanceof Element) focus.removed(removed, record);
      }
    // The page's own code comes first: it may know a better place.
    if (dialog.isLost || page.isLost)
      requestAnimationFrame(() => {
        for (const focus of [dialog, page]) if (document.activeElement === document.body) focus.find()?.focus();
      });
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** The last focus in boxes of a kind, and where it goes when its control is removed while the box stays. */
class Focus {
  #last: Element | undefined;
  #next: (() => HTMLElement | undefined) | undefined;
  readonly #box: string;

  constructor(box: string) {
    this.#box = box;
  }

  moved(to: Element): void {
    this.#last = to;
    this.#next = undefined;
  }

  /** Disabled, or no longer. */
  disabled(control: Node): void {
    if (control === this.#last) this.#next = () => control as HTMLElement;
  }

  removed(removed: Element, record: MutationRecord): void {
    if (this.#last === undefined || !removed.contains(this.#last)) return;
    const isWithBox = removed.querySelector(this.#box) !== null || removed.matches(this.#box);
    this.#next = isWithBox ? undefined : successor(this.#last, removed, record, this.#box);
  }

  get isLost(): boolean {
    return this.#next !== undefined;
  }

  find(): HTMLElement | undefined {
    return this.#next?.();
  }
}

function successor(last: Element, removed: Element, { target, nextSibling, previousSibling }: MutationRecord, within: string) {
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
    for (let box = target as Element | null; box?.closest(within); box = box.parentElement) {
      const control = controlsIn(box).find((each) => each.checkVisibility());
      if (control !== undefined) return control;
    }
    return undefined;
  };
}
