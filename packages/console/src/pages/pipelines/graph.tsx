/** The pipeline as a picture: sources, steps, integrations, with counts on the edges and red where it hurts. Plain SVG. */
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { Outdated } from '../../components/states.tsx';
import { milliseconds, number, short } from '../../format.ts';
import { deadOf, deliveredOf, pipelineQuery } from '../../queries.ts';
import type { RangeKey } from '../../time-range.ts';
import { countedEvents, type EventsSearch } from '../events/search.ts';
import { BROKERS, isBroker } from '../sources/broker-connection.tsx';
import { providerName } from '../sources/sources.ts';
import classes from './graph.module.css';
import type { IntegrationRow } from './integration-table.tsx';
import { transformationsQuery } from './transformations-query.ts';

const WIDTH = 1120;
const BOX = { width: 170, height: 52 };
const WIDE = 260;
const GAP = 72;

type Target = Pick<LinkProps, 'to' | 'params' | 'search'>;
interface Node {
  key: string;
  x: number;
  y: number;
  width: number;
  title: string;
  note: string;
  tone?: 'bad' | 'idle' | undefined;
  /** What the box opens. */
  link: Target;
  /** The events of its edge. */
  edge?: Counted | undefined;
}
interface Counted {
  count: number;
  what: string;
  events: EventsSearch;
}

export function PipelineGraph({
  pipelineId,
  range,
  received,
  bySource,
  processed,
  dropped,
  rows,
}: {
  pipelineId: string;
  range: RangeKey;
  received: number;
  bySource: Readonly<Record<string, number>>;
  processed: number;
  dropped: number;
  rows: IntegrationRow[];
}) {
  const pipeline = useQuery(pipelineQuery(pipelineId));
  const sources = useQuery({
    queryKey: ['webhook-sources', 'of', pipelineId],
    queryFn: () =>
      allPages(async (offset) => {
        const query = { pipeline_id: pipelineId, limit: 100, offset };
        const page = await call(api.GET('/v1/admin/webhook-sources', { params: { query } }));
        return { ...page, rows: page.webhook_sources };
      }),
    staleTime: 60_000,
  });
  const transformations = useQuery({ ...transformationsQuery(pipelineId), staleTime: 60_000 });
  const here = (search: Record<string, string>): Target => ({ to: '/pipelines/$pipelineId', params: { pipelineId }, search });
  const of = { pipeline: pipelineId, range };
  const sentBy = (source: string, name: string): Counted => ({
    count: bySource[source] ?? 0,
    what: `of ${name}`,
    events: { ...of, source },
  });
  const isServer = pipeline.data?.type === 'server';
  const left: Omit<Node, 'x' | 'y' | 'width'>[] = [];
  if (!isServer || bySource.browser !== undefined)
    left.push({
      key: 'browser',
      title: 'Browser',
      note: 'collector and pages',
      link: here({ tab: 'collector' }),
      edge: sentBy('browser', 'browsers'),
    });
  if (isServer || bySource.server !== undefined)
    left.push({
      key: 'server',
      title: 'Servers and apps',
      note: 'SDKs and HTTP',
      link: here({ snippet: 'node' }),
      edge: sentBy('server', 'servers and apps'),
    });
  for (const { id, name, provider, kind } of sources.data ?? [])
    left.push({
      key: id,
      title: name,
      note: isBroker(kind) ? `from ${BROKERS[kind].label}` : providerName(provider),
      link: { to: '/sources', search: { selected: id } },
      edge: sentBy(id, name),
    });
  const steps = transformations.data?.transformations.filter(({ enabled }) => enabled) ?? [];
  const height = Math.max(left.length, rows.length, 2) * GAP + 20;
  const middle = height / 2 - BOX.height / 2;
  const place = (count: number, at: number) => height / 2 - (count * GAP) / 2 + at * GAP + (GAP - BOX.height) / 2;
  const sourceNodes: Node[] = left.map((node, at) => ({ ...node, x: 16, y: place(left.length, at), width: BOX.width }));
  const privacy: Node = {
    key: 'privacy',
    x: 330,
    y: middle,
    width: 150,
    title: 'Consent · bots',
    note: 'privacy · identity',
    link: { to: '/data-layer' },
    edge: { count: received, what: 'received', events: of },
  };
  const lost: Counted = { count: dropped, what: 'dropped by your rules', events: countedEvents({ ...of, status: 'dropped' }) };
  const transform: Node = {
    key: 'transform',
    x: 570,
    y: middle,
    width: 150,
    title: 'Transformations',
    note: steps.length === 0 ? 'none' : steps.map(({ name }) => name).join(', '),
    link: here({ tab: 'transformations' }),
    edge: { count: processed, what: 'processed', events: countedEvents({ ...of, status: 'processed' }) },
  };
  const targets: Node[] = rows.map(({ integration, totals }, at) => ({
    key: integration.id,
    x: WIDTH - WIDE - 16,
    y: place(rows.length, at),
    width: WIDE,
    title: integration.name,
    note: !integration.enabled
      ? 'disabled'
      : totals === undefined
        ? integration.health.status
        : `${short(deliveredOf(totals))} delivered · ${short(integration.health.waiting)} waiting${deadOf(totals) > 0 ? ` · ${short(deadOf(totals))} dead` : totals.p50_ms === null ? '' : ` · ${milliseconds(totals.p50_ms)}`}`,
    tone: !integration.enabled
      ? 'idle'
      : integration.health.status === 'failing' ||
          integration.health.status === 'misconfigured' ||
          (totals !== undefined && deadOf(totals) > 0)
        ? 'bad'
        : undefined,
    link: here({ tab: 'integrations', integration: integration.id }),
    edge: totals && {
      count: deliveredOf(totals),
      what: `delivered to ${integration.name}`,
      events: countedEvents({ ...of, integration: integration.id, delivery: 'delivered' }),
    },
  }));
  if (targets.length === 0)
    targets.push({
      key: 'none',
      x: WIDTH - WIDE - 16,
      y: middle,
      width: WIDE,
      title: 'No integrations yet',
      note: 'Add one from the catalog',
      tone: 'idle',
      link: { to: '/catalog', search: { pipeline: pipelineId } },
    });
  const most = Math.max(received, 1);
  const thick = ({ edge }: Node) => Math.max(2, Math.min(18, ((edge?.count ?? 0) / most) * 18));
  const beside = (node: Node) => (node.y > middle ? thick(node) / 2 + 13 : -thick(node) / 2 - 5);
  const failed = [sources, transformations].find(({ isError }) => isError);
  return (
    <section className={`panel ${classes.graph}`} aria-label="Picture of the pipeline">
      {failed !== undefined && <Outdated what="A part of the picture" error={failed.error} retry={() => void failed.refetch()} />}
      <svg viewBox={`0 0 ${WIDTH} ${height}`} width="100%" className={classes.picture} aria-label="Sources, steps and integrations">
        <g className={classes.edges}>
          {sourceNodes.map((node) => (
            <Edge key={node.key} from={node} to={privacy} width={thick(node)} />
          ))}
          <Edge from={privacy} to={transform} width={thick(transform)} />
          {targets.map((node) => (
            <Edge key={node.key} from={transform} to={node} width={thick(node)} tone={node.tone} />
          ))}
        </g>
        {sourceNodes.map((node) => (
          <Count key={node.key} node={node} at="end" beside={beside(node)} />
        ))}
        {[privacy, transform, ...targets].map((node) => (
          <Count key={node.key} node={node} at="start" beside={beside(node)} />
        ))}
        {[...sourceNodes, privacy, transform, ...targets].map((node) => (
          <Box key={node.key} node={node} />
        ))}
        {dropped > 0 && (
          <Link to="/events" search={lost.events} className={classes.count} aria-label={`−${short(dropped)} by rules: ${labelOf(lost)}`}>
            <text x={privacy.x + privacy.width / 2} y={privacy.y + BOX.height + 18} textAnchor="middle">
              −{short(dropped)} by rules
            </text>
          </Link>
        )}
      </svg>
      <ol className={classes.flow}>
        <Stage
          name="Sources"
          note={
            <Link to="/events" search={of}>
              {short(received)} received
            </Link>
          }
          nodes={sourceNodes}
        />
        <Stage
          name="Steps"
          note={
            <>
              <Link to="/events" search={countedEvents({ ...of, status: 'processed' })}>
                {short(processed)} processed
              </Link>
              {dropped > 0 && (
                <>
                  ,{' '}
                  <Link to="/events" search={lost.events}>
                    {short(dropped)} dropped by your rules
                  </Link>
                </>
              )}
            </>
          }
          nodes={[privacy, transform]}
        />
        <Stage name="Integrations" note="" nodes={targets} />
      </ol>
    </section>
  );
}

const labelOf = ({ count, what }: Counted): string => `${number(count)} ${count === 1 ? 'event' : 'events'} ${what}`;

/**
 * Beside the line of an edge, where it leaves a source or reaches the other boxes: above it, or below where the line comes from above.
 * Leads to the events that it counts.
 */
function Count({ node: { x, y, width, edge }, at, beside }: { node: Node; at: 'start' | 'end'; beside: number }): ReactNode {
  if (edge === undefined) return null;
  return (
    <Link to="/events" search={edge.events as never} className={classes.count} aria-label={labelOf(edge)}>
      <text x={at === 'end' ? x + width + 8 : x - 8} y={y + BOX.height / 2 + beside} textAnchor={at === 'end' ? 'start' : 'end'}>
        {short(edge.count)}
      </text>
    </Link>
  );
}

/** The same as a list, for screens that are too narrow for the picture. */
function Stage({ name, note, nodes }: { name: string; note: ReactNode; nodes: readonly Node[] }): ReactNode {
  return (
    <li>
      <p className={classes.stage}>
        <b>{name}</b> <span className="dim">{note}</span>
      </p>
      {nodes.map(({ key, title, note: line, tone, link, edge }) => (
        <div key={key} className={classes.entry} data-tone={tone}>
          <Link {...(link as { to: string })} className={classes.open}>
            <span>{title}</span>
            <span className="dim">{line}</span>
          </Link>
          {edge !== undefined && (
            <Link to="/events" search={edge.events as never} aria-label={labelOf(edge)}>
              {short(edge.count)}
            </Link>
          )}
        </div>
      ))}
    </li>
  );
}

function Edge({ from, to, width, tone }: { from: Node; to: Node; width: number; tone?: Node['tone'] }): ReactNode {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = (x2 - x1) / 2;
  return <path d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} strokeWidth={width} data-tone={tone} />;
}
function Box({ node: { x, y, width, title, note, tone, link } }: { node: Node }): ReactNode {
  return (
    <Link {...(link as { to: string })} className={classes.node} data-tone={tone}>
      <rect x={x} y={y} width={width} height={BOX.height} rx={8} />
      <text x={x + 14} y={y + 22} className={classes.title}>
        {clip(title, width)}
      </text>
      <text x={x + 14} y={y + 39} className={classes.note}>
        {clip(note, width, 5.9)}
      </text>
    </Link>
  );
}
/** SVG text does not clip itself; `each`: px per character at its size. */
function clip(text: string, width: number, each = 6.4): string {
  const most = Math.floor((width - 24) / each);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
