/** Received, delivered, dropped and dead letters over the time range. */
import { lazy, Suspense } from 'react';
import { useTraffic } from '../../live/use-stats.ts';
import { deadOf, deliveredOf, droppedOf } from '../../queries.ts';
import { RANGES, type RangeKey } from '../../time-range.ts';
import { countedSearch } from '../dead-letters/search.ts';
import { countedEvents, type EventsSearch } from '../events/search.ts';
import classes from './attention.module.css';
import { sum } from './numbers.tsx';

const TimeChart = lazy(async () => ({ default: (await import('../../components/time-chart.tsx')).TimeChart }));
/** Keeps the page from jumping when the chart arrives. */
const ROOM = 262;

export function Traffic({ range, pipelineId }: { range: RangeKey; pipelineId?: string }) {
  // Its numbers stand above, and say so where they cannot be read.
  const { data } = useTraffic(range, pipelineId);
  const pipeline = pipelineId === undefined ? {} : { pipeline: pipelineId };
  const events = (search: EventsSearch = {}) => ({ to: '/events' as const, search: countedEvents({ ...pipeline, range, ...search }) });
  return (
    <section className={`panel ${classes.list}`} aria-label="Traffic">
      <h2 className={classes.head}>Traffic</h2>
      <div style={{ padding: '12px 16px', minHeight: ROOM }}>
        {data !== undefined && (
          <Suspense>
            <TimeChart
              label={`Events, ${RANGES[range].label.toLowerCase()}, per ${RANGES[range].interval}`}
              times={data.series.map(({ time }) => time)}
              stepMs={RANGES[range].interval === 'minute' ? 60_000 : 3_600_000}
              from={data.from}
              lines={[
                { name: 'Received', colour: '--info', values: data.series.map(({ received }) => received), link: events() },
                {
                  name: 'Delivered',
                  colour: '--accent',
                  values: data.series.map(deliveredOf),
                  link: events({ delivery: 'delivered' }),
                },
                {
                  name: 'Dropped',
                  colour: '--mark-warn',
                  values: data.series.map((entry) => sum(droppedOf(entry))),
                  link: events({ delivery: 'dropped' }),
                },
                {
                  name: 'Dead letters',
                  colour: '--bad',
                  values: data.series.map(deadOf),
                  link: { to: '/dead-letters', search: countedSearch(pipeline, range) },
                },
              ]}
            />
          </Suspense>
        )}
      </div>
    </section>
  );
}
