/** Counts a page view at the start and for each new URL of a single-page application. */
import { address, seen } from './context.ts';
import { listen } from './page.ts';

export const startAutoPage = (view: () => void) => {
  const check = () => {
    if (seen !== address()) view();
  };
  // Deferred: the application sets the new title first, and may count the page itself.
  const soon = () => setTimeout(check);
  for (const method of ['pushState', 'replaceState'] as const) {
    const original = history[method];
    history[method] = (...args) => {
      soon();
      return original.apply(history, args);
    };
  }
  listen('popstate', soon);
  check();
};
