import { SearchIcon } from '../components/icons.tsx';
import classes from './shell.module.css';

export function SearchButton() {
  return (
    <button
      type="button"
      className={classes.search}
      aria-label="Search pipelines, integrations, an event id … Ctrl K"
      onClick={() => void import('@mantine/spotlight').then(({ spotlight }) => spotlight.open())}
    >
      <SearchIcon />
      <span>Search pipelines, integrations, an event id …</span>
      <kbd>Ctrl K</kbd>
    </button>
  );
}
