import { useHotkeys } from '@mantine/hooks';
import { lazy, Suspense, useState } from 'react';
import { SearchIcon } from '../components/icons.tsx';
import classes from './shell.module.css';

const Search = lazy(async () => ({ default: (await import('./search.tsx')).Search }));

const KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

/** The search itself is loaded when it is first opened; it listens to the keys from then on. */
export function SearchButton() {
  const [wanted, setWanted] = useState(false);
  const open = () => {
    setWanted(true);
    void import('@mantine/spotlight').then(({ spotlight }) => spotlight.open());
  };
  useHotkeys(wanted ? [] : [['mod + K', open]], []);
  return (
    <>
      <button type="button" className={classes.search} aria-label={`Search pipelines, integrations, an event id … ${KEYS}`} onClick={open}>
        <SearchIcon />
        <span>Search pipelines, integrations, an event id …</span>
        <kbd>{KEYS}</kbd>
      </button>
      {wanted && (
        <Suspense>
          <Search />
        </Suspense>
      )}
    </>
  );
}
