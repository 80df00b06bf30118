/** The pipeline as a picture: sources, steps, integrations, with counts on the edges and red where it hurts. Plain SVG. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { allPages } from '../../all-pages.ts';
import { api, call } from '../../api.ts';
import { milliseconds, short } from '../../format.ts';
import classes from './graph.module.css';
import type { IntegrationRow } from './integration-table.tsx';
import { transformationsQuery } from './transformations-query.ts';

const WIDTH = 1120;
const BOX = { width: 170, height: 52 };
const WIDE = 260;
const GAP = 72;

interface Node {
  key: string;
  x: number;
  y: number;
  width: number;
  title: string;
  note: string;
  tone?: 'bad' | 'idle' | undefined;
  open: () => void;
}

export function PipelineGraph({
  pipelineId,
  received,
  processed,
  dropped,
  rows,
}: {
  pipelineId: string;
  received: number;
  processed: number;
  dropped: number;
  rows: IntegrationRow[];
}) {
  const navigate = useNavigate();
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
  const tab = (name: string) => () => void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId }, search: { tab: name } });
  const inbound = sources.data ?? [];
  const left = [
    { key: 'collect', title: 'Browser and SDKs', note: 'collection endpoints', open: tab('collector') },
    ...inbound.map(({ id, name, provider }) => ({
      key: id,
      title: name,
      note: `signed by ${provider}`,
      open: () => void navigate({ to: '/sources', search: { selected: id } }),
    })),
  ];
  const steps = transformations.data?.transformations.filter(({ enabled }) => enabled) ?? [];
  const height = Math.max(left.length, rows.length, 2) * GAP + 20;
  const middle = height / 2 - BOX.height / 2;
  const place = (count: number, at: number) => height / 2 - (count * GAP) / 2 + at * GAP + (GAP - BOX.height) / 2;
  const sourceNodes: Node[] = left.map((node, at) => ({ ...node, x: 16, y: place(left.length, at), width: BOX.width }));
  const privacy: Node = {
    key: 'privacy',
    x: 320,
    y: middle,
    width: 150,
    title: 'Consent · bots',
    note: dropped > 0 ? `−${short(dropped)} by rules` : 'privacy · identity',
    open: () => void navigate({ to: '/data-layer' }),
  };
  const transform: Node = {
    key: 'transform',
    x: 560,
    y: middle,
    width: 150,
    title: 'Transformations',
    note: steps.length === 0 ? 'none' : steps.map(({ name }) => name).join(', '),
    open: tab('transformations'),
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
        : `${short(totals.delivered)} delivered · ${short(integration.health.waiting)} waiting${totals.dead_lettered > 0 ? ` · ${short(totals.dead_lettered)} dead` : totals.p50_ms === null ? '' : ` · ${milliseconds(totals.p50_ms)}`}`,
    tone: !integration.enabled
      ? 'idle'
      : integration.health.status === 'failing' || integration.health.status === 'misconfigured' || (totals?.dead_lettered ?? 0) > 0
        ? 'bad'
        : undefined,
    open: () =>
      void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId }, search: { tab: 'integrations', integration: integration.id } }),
  }));
  const most = Math.max(received, 1);
  const thick = (count: number) => Math.max(2, Math.min(18, (count / most) * 18));
  return (
    <section className={`panel ${classes.graph}`} aria-label="Picture of the pipeline">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} width="100%" className={classes.picture} aria-label="Sources, steps and integrations">
        <g fill="none" stroke="var(--accent)" strokeOpacity={0.28}>
          {sourceNodes.map((node) => (
            // How many came from which source is not counted: only a single source has a width of its own.
            <Edge key={node.key} from={node} to={privacy} width={sourceNodes.length === 1 ? thick(received) : 4} />
          ))}
          <Edge from={privacy} to={transform} width={thick(processed)} />
          {targets.map((node, at) => (
            <Edge key={node.key} from={transform} to={node} width={thick(rows[at]?.totals?.delivered ?? 0)} tone={node.tone} />
          ))}
        </g>
        <g className={classes.count} textAnchor="end">
          <Count x={privacy.x} y={middle} count={received} />
          <Count x={transform.x} y={middle} count={processed} />
          {targets.map((node, at) => {
            const delivered = rows[at]?.totals?.delivered;
            return delivered === undefined ? null : <Count key={node.key} x={node.x} y={node.y} count={delivered} />;
          })}
        </g>
        {[...sourceNodes, privacy, transform, ...targets].map((node) => (
          <Box key={node.key} node={node} />
        ))}
      </svg>
      <ol className={classes.flow}>
        <Stage name="Sources" note={`${short(received)} received`} nodes={sourceNodes} />
        <Stage name="Steps" note={`${short(processed)} processed`} nodes={[privacy, transform]} />
        <Stage name="Integrations" note="" nodes={targets} />
      </ol>
    </section>
  );
}

/** Where an edge ends, above its line. */
function Count({ x, y, count }: { x: number; y: number; count: number }): ReactNode {
  return (
    <text x={x - 8} y={y + BOX.height / 2 - 12}>
      {short(count)}
    </text>
  );
}

/** The same as a list, for screens that are too narrow for the picture. */
function Stage({ name, note, nodes }: { name: string; note: string; nodes: readonly Node[] }): ReactNode {
  return (
    <li>
      <p className={classes.stage}>
        <b>{name}</b> <span className="dim">{note}</span>
      </p>
      {nodes.map(({ key, title, note: line, tone, open }) => (
        <button key={key} type="button" className={classes.entry} data-tone={tone} onClick={open}>
          <span>{title}</span>
          <span className="dim">{line}</span>
        </button>
      ))}
    </li>
  );
}

function Edge({ from, to, width, tone }: { from: Node; to: Node; width: number; tone?: Node['tone'] }): ReactNode {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const bend = (x2 - x1) / 2;
  const style = tone === 'bad' ? { stroke: 'var(--bad)', strokeOpacity: 0.5 } : tone === 'idle' ? { stroke: 'var(--idle)' } : undefined;
  return <path d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} strokeWidth={width} style={style} />;
}
function Box({ node: { x, y, width, title, note, tone, open } }: { node: Node }): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: an SVG has no button element
    <g
      role="button"
      tabIndex={0}
      className={classes.node}
      data-tone={tone}
      onClick={open}
      onKeyDown={({ key }) => (key === 'Enter' || key === ' ') && open()}
    >
      <rect x={x} y={y} width={width} height={BOX.height} rx={8} />
      <text x={x + 14} y={y + 22} className={classes.title}>
        {clip(title, width)}
      </text>
      <text x={x + 14} y={y + 39} className={classes.note}>
        {clip(note, width)}
      </text>
    </g>
  );
}
/** SVG text does not clip itself; about 6.4 px per character at this size. */
function clip(text: string, width: number): string {
  const most = Math.floor((width - 24) / 6.4);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
