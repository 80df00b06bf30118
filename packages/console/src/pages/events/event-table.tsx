/** Only the rows in view are in the document, so 100,000 scroll as easily as 100. Every row has the same height, so nothing is measured. */
import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Tag, toneOf, words } from '../../components/tag.tsx';
import { clockTime } from '../../format.ts';
import type { Integration } from '../../queries.ts';
import classes from './events.module.css';
import type { Row } from './rows.ts';

const ROW_HEIGHT = 34;
/** Rows above and below the view that are drawn too, so that a quick turn of the wheel shows no gap. */
const SPARE = 6;

export interface EventTableProps {
  rows: Row[];
  /** Their names. Left out if there is only one: then its column would say nothing. */
  pipelines: ReadonlyMap<string, string> | undefined;
  integrations: ReadonlyMap<string, readonly Integration[]>;
  selected: Selected | undefined;
  onSelect: (row: Row) => void;
  /** The reader has come near the end. */
  onEnd: () => void;
  /** Stands below the rows: why there are no more. */
  end?: ReactNode;
}
/** A link may name the event alone. */
export interface Selected {
  event_id: string;
  pipeline_id: string | undefined;
}
const isSelected = (row: Row, selected: Selected | undefined): boolean =>
  row.event_id === selected?.event_id && (selected.pipeline_id ?? row.pipeline_id) === row.pipeline_id;

export function EventTable({ rows, pipelines, integrations, selected, onSelect, onEnd, end }: EventTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 900 });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const look = () => setView({ top: box.scrollTop, height: box.clientHeight });
    const resized = new ResizeObserver(look);
    resized.observe(box);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      resized.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, []);
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - SPARE);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + SPARE);
  useEffect(() => {
    if (last >= rows.length - 40) onEnd();
  }, [last, rows.length, onEnd]);

  function onKey(event: React.KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -rows.length, End: rows.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = rows.findIndex((row) => isSelected(row, selected));
    const index = Math.min(rows.length - 1, Math.max(0, at + step));
    const next = rows[index];
    if (next === undefined) return;
    onSelect(next);
    const box = scroller.current;
    if (box === null) return;
    if (index * ROW_HEIGHT < box.scrollTop) box.scrollTop = index * ROW_HEIGHT;
    else if ((index + 1) * ROW_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = (index + 1) * ROW_HEIGHT - box.clientHeight;
  }
  // Rows that leave the view are filled anew for those that enter it: changing texts is much cheaper than making elements.
  const slots = Math.ceil(view.height / ROW_HEIGHT) + 2 + 2 * SPARE;
  const columns = pipelines === undefined ? 'without-pipeline' : 'with-pipeline';
  // A row that is not in the document cannot be the active one.
  const shown = rows.slice(first, last);
  const chosen = shown.find((row) => isSelected(row, selected));
  const active = chosen && elementId(chosen);
  return (
    <div className={`panel ${classes.table}`} data-columns={columns}>
      <div className={classes.headRow} aria-hidden>
        <span>Time</span>
        <span>Event</span>
        <span>Visitor</span>
        <span>Value</span>
        {pipelines !== undefined && <span>Pipeline</span>}
        <span>Integrations</span>
      </div>
      <div
        ref={scroller}
        className={classes.scroller}
        role="listbox"
        aria-label="Events"
        tabIndex={0}
        onKeyDown={onKey}
        aria-activedescendant={active}
      >
        <div style={{ height: rows.length * ROW_HEIGHT, position: 'relative' }} role="presentation">
          {shown.map((row, at) => (
            <EventRow
              // biome-ignore lint/suspicious/noArrayIndexKey: rows keep no state, and a place in the view is what is kept
              key={(first + at) % slots}
              row={row}
              start={(first + at) * ROW_HEIGHT}
              selected={isSelected(row, selected)}
              pipeline={pipelines === undefined ? undefined : (pipelines.get(row.pipeline_id) ?? row.pipeline_id)}
              integrations={integrations.get(row.pipeline_id)}
              onSelect={onSelect}
            />
          ))}
        </div>
      </div>
      {end}
    </div>
  );
}
const elementId = ({ pipeline_id, event_id }: Row): string => `event-${pipeline_id}-${event_id}`;

interface EventRowProps {
  row: Row;
  start: number;
  selected: boolean;
  pipeline: string | undefined;
  integrations: readonly Integration[] | undefined;
  onSelect: (row: Row) => void;
}
const EventRow = memo(function EventRow({ row, start, selected, pipeline, integrations, onSelect }: EventRowProps) {
  return (
    <div
      id={elementId(row)}
      role="option"
      aria-selected={selected}
      tabIndex={-1}
      className={classes.row}
      style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
      onClick={() => onSelect(row)}
      onKeyDown={(event) => event.key === 'Enter' && onSelect(row)}
    >
      <span className="mono" title={row.received_at}>
        <RowTime iso={row.received_at} />
      </span>
      <span className={classes.name}>
        <EventName row={row} /> {row.webhook && <Tag tone="info">webhook</Tag>}
      </span>
      <span className={`mono ${classes.clip}`}>{row.user_id ?? shortId(row.anonymous_id)}</span>
      <span className={`mono ${classes.clip}`}>{row.value ?? <span className="dim">–</span>}</span>
      {pipeline !== undefined && <span className={classes.clip}>{pipeline}</span>}
      <Verdicts row={row} integrations={integrations} />
    </div>
  );
});

export function EventName({ row }: { row: Pick<Row, 'type' | 'event_name'> & { path?: string | null } }) {
  if (row.type === 'track') return <b>{row.event_name ?? 'Track'}</b>;
  return (
    <>
      <b>{row.type.charAt(0).toUpperCase() + row.type.slice(1)}</b> <span className="dim">{row.path ?? row.event_name ?? ''}</span>
    </>
  );
}
function shortId(id: string | null): string {
  return id === null ? '–' : `a_${id.slice(0, 6)}`;
}

/** One mark per integration, always in the same order, so that a column of marks can be read downwards. */
function Verdicts({ row, integrations }: { row: Row; integrations: readonly Integration[] | undefined }) {
  if (row.status === 'dropped' || row.status === 'rejected' || row.status === 'dead_lettered')
    return (
      <span className={classes.clip}>
        <Tag tone={toneOf(row.status)}>{words(row.reason ?? row.status)}</Tag>
      </span>
    );
  const known = new Map(row.verdicts.map(({ integration_id, status }) => [integration_id, status]));
  const named = integrations?.map(({ id, name }) => ({ id, name, status: known.get(id) ?? 'waiting' })) ?? [];
  const ids = new Set(named.map(({ id }) => id));
  const marks = [
    ...named,
    ...row.verdicts
      .filter(({ integration_id }) => !ids.has(integration_id))
      .map(({ integration_id: id, status }) => ({ id, name: id, status })),
  ];
  const text = marks.map(({ name, status }) => `${name}: ${words(status)}`).join(', ');
  return (
    <span className={classes.marks} role="img" aria-label={text === '' ? 'no integrations' : text} title={text.replaceAll(', ', '\n')}>
      {marks.map(({ id, status }) => (
        <i key={id} data-tone={toneOf(status)} data-status={status} />
      ))}
    </span>
  );
}
/** `14:02:11.482`, or `12 May 14:02:11`. A telephone has room for `14:02:11` and `12 May 14:02`. */
function RowTime({ iso }: { iso: string }) {
  const time = clockTime(iso);
  const whole = time.length > '14:02:11.482'.length ? time.slice(0, -'.482'.length) : time;
  const cut = whole.length - (whole === time ? '.482'.length : ':11'.length);
  return (
    <>
      {whole.slice(0, cut)}
      <span className={classes.fine}>{whole.slice(cut)}</span>
    </>
  );
}
