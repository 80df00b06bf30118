import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { number } from '../format.ts';
import { useLiveState } from '../live/use-live.ts';
import { ratesQuery } from '../queries.ts';
import classes from './shell.module.css';

const WORDS = { live: 'Live', behind: 'Behind', connecting: 'Connecting', offline: 'Offline' } as const;

/** Says whether what moves on the page is current. */
export function LiveDot() {
  const { status, skipped } = useLiveState();
  const rates = useQuery(ratesQuery());
  const shown = status === 'live' && skipped > 0 ? 'behind' : status;
  const why = {
    live: 'Live data is connected.',
    behind: `${skipped.toLocaleString('en')} live frames were skipped because they came faster than this page reads. Numbers from the API are complete.`,
    connecting: 'Connecting to live data.',
    offline: 'Live data is not connected; trying again. What you see may be out of date.',
  }[shown];
  return (
    <span className={classes.live}>
      <Tooltip label={why} multiline maw={280}>
        <span className={classes.live} role="status" aria-label={`${WORDS[shown]}: ${why}`}>
          <span className={classes.dot} data-state={shown} />
          {WORDS[shown]}
        </span>
      </Tooltip>
      {shown === 'live' && rates.data !== undefined && rates.data.all >= 1 && (
        <span className={classes.rate}>
          {'· '}
          <Link to="/events" search={{ range: rates.data.range }} title="The events of the last five minutes">
            {number(Math.round(rates.data.all))} events/min
          </Link>
        </span>
      )}
    </span>
  );
}
