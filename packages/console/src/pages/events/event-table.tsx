/** A virtualised table: only the rows in view are in the document, so 100,000 scroll as easily as 100. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { clockTime } from '../../format.ts';
import classes from './events.module.css';
import type { Row } from './live-events.ts';

const ROW_HEIGHT = 34;

export interface EventTableProps {
  rows: Row[];
  names: ReadonlyMap<string, string>;
  selected: string | undefined;
  onSelect: (eventId: string) => void;
  /** The reader has come near the end. */
  onEnd: () => void;
}

export function EventTable({ rows, names, selected, onSelect, onEnd }: EventTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 20) onEnd();
  }, [last, rows.length, onEnd]);

  function onKey(event: React.KeyboardEvent) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = rows.findIndex(({ event_id }) => event_id === selected);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
    if (next === undefined) return;
    onSelect(next.event_id);
    virtual.scrollToIndex(rows.indexOf(next));
  }

  return (
    <div className={`panel ${classes.table}`}>
      <div className={classes.headRow} aria-hidden>
        <span>Time</span>
        <span>Event</span>
        <span>Visitor</span>
        <span>Pipeline</span>
        <span>Integrations</span>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="listbox"
        aria-label="Events"
        tabIndex={0}
        onKeyDown={onKey}
        aria-activedescendant={selected === undefined ? undefined : `event-${selected}`}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={row.event_id}
                id={`event-${row.event_id}`}
                role="option"
                aria-selected={row.event_id === selected}
                tabIndex={-1}
                className={classes.row}
                style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                onClick={() => onSelect(row.event_id)}
                onKeyDown={(event) => event.key === 'Enter' && onSelect(row.event_id)}
              >
                <span className="mono">{clockTime(row.received_at)}</span>
                <span className={classes.name}>
                  <EventName row={row} />
                </span>
                <span className={`mono ${classes.clip}`}>{row.user_id ?? shortId(row.anonymous_id)}</span>
                <span className={classes.clip}>{names.get(row.pipeline_id) ?? row.pipeline_id}</span>
                <Verdicts row={row} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

export function EventName({ row }: { row: Pick<Row, 'type' | 'event_name' | 'event'> }) {
  if (row.type === 'track') return <b>{row.event_name ?? 'Track'}</b>;
  const page = row.event?.properties as { path?: unknown } | undefined;
  return (
    <>
      <b>{row.type.charAt(0).toUpperCase() + row.type.slice(1)}</b>{' '}
      <span className="dim">{typeof page?.path === 'string' ? page.path : (row.event_name ?? '')}</span>
    </>
  );
}
function shortId(id: string | null): string {
  return id === null ? '–' : `a_${id.slice(0, 6)}`;
}
function Verdicts({ row }: { row: Row }) {
  if (row.status === 'dropped' || row.status === 'rejected' || row.status === 'dead_lettered')
    return (
      <span>
        <Tag tone={toneOf(row.status)}>{words(row.reason ?? row.status)}</Tag>
      </span>
    );
  const text = row.verdicts.map(({ status }) => words(status)).join(', ');
  return (
    <span className={classes.marks} role="img" aria-label={text === '' ? 'no verdicts yet' : text} title={text}>
      {row.verdicts.map(({ integration_id, status }) => (
        <i key={integration_id} data-tone={toneOf(status)} />
      ))}
    </span>
  );
}
