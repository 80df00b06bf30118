/** A page view for every address the visitor sees: at the start, and as a single-page application moves on. */
import { address, seen } from './context.ts';
import { listen } from './page.ts';

export const startAutoPage = (view: () => void) => {
  const check = () => {
    if (seen !== address()) view();
  };
  // Later, so that the application has set the new title, and may count the page itself.
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
