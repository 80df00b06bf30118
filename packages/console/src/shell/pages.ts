/** The pages of the rail, in its order; the search offers them too. */
export const PAGES = [{ to: '/', label: 'Home' }] as const;
