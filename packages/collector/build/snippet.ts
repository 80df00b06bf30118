/** The script tag for a page. */
import type { Pipeline } from '@firsthand/core/config/resources.ts';

export interface SnippetInput {
  pipeline: Pipeline;
  ingest_url: string;
  /** The ready build; needed for the pinned tag. */
  status?: { version_hash?: string; integrity?: string } | null;
  /** Always the same build: immutable URL, integrity and crossorigin. */
  pinned?: boolean;
}

/** The URL of the script. A site that hosts the file itself is assumed to serve it at its root. */
export function scriptAddress({ pipeline, ingest_url, status, pinned }: SnippetInput): string {
  const { script_filename, delivery_method } = pipeline.js_builder_config;
  const path = encodeURIComponent(script_filename);
  if (delivery_method === 'download') return `/${path}`;
  const version = pinned && status?.version_hash ? `/${status.version_hash}` : '';
  return `${withoutSlash(ingest_url)}/c/${encodeURIComponent(pipeline.pipeline_key)}${version}/${path}`;
}

export function snippet(input: SnippetInput): string {
  const { pipeline, status, pinned } = input;
  const base = withoutSlash(input.ingest_url);
  const attributes: [name: string, value: string][] = [['src', scriptAddress(input)]];
  // The collector sends to the origin of the script: a service behind a path or on another origin must be named.
  const isElsewhere = URL.canParse(base) && new URL(base).pathname !== '/';
  if (pipeline.js_builder_config.delivery_method === 'download' || isElsewhere) attributes.push(['data-ingest-url', base]);
  attributes.push(['data-pipeline-key', pipeline.pipeline_key]);
  if (pinned && status?.integrity) attributes.push(['integrity', status.integrity], ['crossorigin', 'anonymous']);
  return `<script async ${attributes.map(([name, value]) => `${name}="${escapeAttribute(value)}"`).join(' ')}></script>`;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function escapeAttribute(value: string): string {
  return value.replace(/[&"'<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
