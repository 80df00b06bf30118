/** The pages of the rail, in its order; the search offers them too. */
export const PAGES = [
  { to: '/', label: 'Home' },
  { to: '/pipelines', label: 'Pipelines' },
  { to: '/catalog', label: 'Catalog' },
  { to: '/events', label: 'Events' },
  { to: '/dead-letters', label: 'Dead letters' },
  { to: '/sources', label: 'Sources' },
  { to: '/data-layer', label: 'Data layer' },
  { to: '/team', label: 'Team' },
  { to: '/audit', label: 'Audit' },
  { to: '/settings', label: 'Settings' },
] as const;
