/**
 * Every page has its address, and the address holds the page's state: filters, tab, selected event. Pages load when they are
 * first opened. A page's search parameters are declared beside its route; what does not fit is left out, never an error.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, PageError } from './components/states.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageError });

type Text = string | undefined;
/** Keeps the named search parameters that are texts. */
function texts<K extends string>(...names: K[]): (search: Record<string, unknown>) => { [N in K]?: string } {
  return (search) => {
    const kept: { [N in K]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') kept[name] = value;
      else if (typeof value === 'number' || typeof value === 'boolean') kept[name] = String(value);
    }
    return kept;
  };
}

export type { Text };

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: texts('range'),
  component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
});

const tree = root.addChildren([home]);

export function createConsoleRouter() {
  return createRouter({ routeTree: tree, defaultPreload: 'intent', defaultErrorComponent: PageError, scrollRestoration: true });
}
declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
