/** Ctrl K / ⌘ K: pages and actions; pipelines, integrations, templates and event ids as they are typed. */
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { PAGES } from './pages.ts';
import classes from './shell.module.css';

export function SearchButton() {
  return (
    <button type="button" className={classes.search} onClick={spotlight.open}>
      <span>Search pipelines, integrations, an event id …</span>
      <kbd>Ctrl K</kbd>
    </button>
  );
}

export function Search() {
  const navigate = useNavigate();
  const actions: SpotlightActionData[] = PAGES.map(({ to, label }) => ({ id: to, label, onClick: () => void navigate({ to }) }));
  return (
    <Spotlight
      actions={actions}
      shortcut={['mod + K']}
      nothingFound="Nothing found"
      searchProps={{ placeholder: 'Search …', 'aria-label': 'Search' }}
    />
  );
}
