/** Counts a page view at the start, for each new URL of a single-page application, and on return from the back/forward cache. */
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
  // Without the cache this would be a new load. Deferred: the transport must first know that the page is back.
  listen('pageshow', (event) => (event as PageTransitionEvent).persisted && setTimeout(view));
  if (F_VARIABLES && document.readyState === 'loading') {
    // Variables may be further down the page than this script.
    listen('DOMContentLoaded', check);
    listen('pagehide', check);
  } else check();
};
