import { Link } from '@tanstack/react-router';
import { events } from '../format.ts';
import { useLiveState, useRecent } from '../live/use-live.ts';
import { rateOf } from '../live/use-stats.ts';
import classes from './shell.module.css';

const WORDS = { live: 'Live', behind: 'Behind', connecting: 'Connecting', offline: 'Offline' } as const;

/** Says whether what moves on the page is current. */
export function LiveDot() {
  const { status, skipped } = useLiveState();
  const recent = useRecent({});
  const rate = recent?.isFresh ? rateOf(recent, recent.counts.series) : undefined;
  const shown = status === 'live' && skipped > 0 ? 'behind' : status;
  const why = {
    live: 'Live data is connected.',
    behind: `${skipped.toLocaleString('en')} live frames were skipped because they came faster than this page reads. Numbers from the API are complete.`,
    connecting: 'Connecting to live data.',
    offline: 'Live data is not connected; trying again. What you see may be out of date.',
  }[shown];
  return (
    <span className={classes.live}>
      <span className={classes.live} role="status" aria-label={`${WORDS[shown]}: ${why}`} title={why}>
        <span className={classes.dot} data-state={shown} />
        {WORDS[shown]}
      </span>
      {shown === 'live' && rate !== undefined && rate.perMinute >= 1 && (
        <span className={classes.rate}>
          {'· '}
          <Link to="/events" search={{ range: rate.range }} title="The events of the last five minutes">
            {events(Math.round(rate.perMinute))}/min
          </Link>
        </span>
      )}
    </span>
  );
}
