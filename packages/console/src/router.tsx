/**
 * Every page has its address, and the address holds the page's state: filters, tab, selected event. Pages load when they are
 * first opened. A page's search parameters are declared beside its route; what does not fit is left out, never an error.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, PageError } from './components/states.tsx';
import { parseSearch, stringifySearch } from './search-text.ts';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: PageError });

/** Keeps the named search parameters that are texts. */
function texts<K extends string>(...names: K[]): (search: Record<string, unknown>) => { [N in K]?: string } {
  return (search) => {
    const kept: { [N in K]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') kept[name] = value;
    }
    return kept;
  };
}

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: texts('range', 'q', 'snippet'),
  component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: texts(
    'pipeline',
    'event',
    'user',
    'visitor',
    'integration',
    'source',
    'delivery',
    'reason',
    'status',
    'plan',
    'range',
    'time',
    'selected',
    'selected_in',
    'live',
    'view',
    'request',
  ),
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
});
const pipelines = createRoute({
  getParentRoute: () => root,
  path: '/pipelines',
  validateSearch: texts('q', 'label', 'new'),
  component: lazyRouteComponent(() => import('./pages/pipelines/pipelines-page.tsx'), 'PipelinesPage'),
});
const pipeline = createRoute({
  getParentRoute: () => root,
  path: '/pipelines/$pipelineId',
  validateSearch: texts('tab', 'range', 'integration', 'transformation', 'event', 'snippet', 'agreed'),
  component: lazyRouteComponent(() => import('./pages/pipelines/pipeline-page.tsx'), 'PipelinePage'),
});
const deadLetters = createRoute({
  getParentRoute: () => root,
  path: '/dead-letters',
  validateSearch: texts(
    'pipeline',
    'integration',
    'source',
    'stage',
    'reason',
    'status',
    'range',
    'selected',
    'tab',
    'from',
    'to',
    'events',
  ),
  component: lazyRouteComponent(() => import('./pages/dead-letters/dead-letters-page.tsx'), 'DeadLettersPage'),
});
const catalog = createRoute({
  getParentRoute: () => root,
  path: '/catalog',
  validateSearch: texts('q', 'group', 'pipeline'),
  component: lazyRouteComponent(() => import('./pages/catalog/catalog-page.tsx'), 'CatalogPage'),
});
const vendor = createRoute({
  getParentRoute: () => root,
  path: '/catalog/$vendor',
  validateSearch: texts('variant', 'sample', 'pipeline', 'new'),
  component: lazyRouteComponent(() => import('./pages/catalog/vendor-page.tsx'), 'VendorPage'),
});
const sources = createRoute({
  getParentRoute: () => root,
  path: '/sources',
  validateSearch: texts('q', 'selected', 'new'),
  component: lazyRouteComponent(() => import('./pages/sources/sources-page.tsx'), 'SourcesPage'),
});

const dataLayer = createRoute({
  getParentRoute: () => root,
  path: '/data-layer',
  validateSearch: texts('sample', 'pipeline', 'open'),
  component: lazyRouteComponent(() => import('./pages/data-layer/data-layer-page.tsx'), 'DataLayerPage'),
});
const team = createRoute({
  getParentRoute: () => root,
  path: '/team',
  validateSearch: texts('tab', 'q', 'new'),
  component: lazyRouteComponent(() => import('./pages/team/team-page.tsx'), 'TeamPage'),
});
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: texts('action', 'resource', 'user', 'from', 'to', 'selected'),
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: texts('new', 'alert'),
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
});

const tryIt = createRoute({
  getParentRoute: () => root,
  path: '/try',
  validateSearch: texts('operation'),
  component: lazyRouteComponent(() => import('./pages/try/try-page.tsx'), 'TryPage'),
});
const mapping = createRoute({
  getParentRoute: () => root,
  path: '/templates/$templateId',
  validateSearch: texts('revision', 'integration', 'event', 'compare', 'rows', 'pins'),
  component: lazyRouteComponent(() => import('./pages/mapping/mapping-page.tsx'), 'MappingPage'),
});

const tree = root.addChildren([
  mapping,
  home,
  pipelines,
  pipeline,
  catalog,
  vendor,
  events,
  deadLetters,
  sources,
  dataLayer,
  team,
  audit,
  settings,
  tryIt,
]);

export function createConsoleRouter() {
  return createRouter({
    routeTree: tree,
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  });
}
declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
