/** A page view for every address the visitor sees: at the start, and as a single-page application moves on. */
import { setReferrer } from './context.ts';
import { attempt, listen } from './page.ts';

let seen = '';

/** An anchor is the same page; `#/…` and `#!…` are the routes of an application. */
const address = () => location.href.replace(/#([^/!].*)?$/, '');

/** Every page view is noted, the page's own calls too: an address is not counted twice in a row. */
export const notePage = () => {
  if (seen && seen !== address()) setReferrer(seen);
  seen = address();
};

export const startAutoPage = (view: () => void) => {
  const check = () => {
    if (seen !== address()) view();
  };
  // Later, so that the application has set the new title, and may count the page itself.
  const soon = () => setTimeout(() => attempt(check));
  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    history[method] = function (...args) {
      const result = original.apply(this, args);
      soon();
      return result;
    };
  }
  listen(window, 'popstate', soon);
  check();
};
