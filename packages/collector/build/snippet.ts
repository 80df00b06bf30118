/** The script tag to put into a page. */
import type { Pipeline } from '@firsthand/core/config/resources.ts';

export interface SnippetInput {
  pipeline: Pipeline;
  ingest_url: string;
  /** The ready build; needed for the pinned tag. */
  status?: { version_hash?: string; integrity?: string } | null;
  /** One build for good: immutable address, integrity and crossorigin. */
  pinned?: boolean;
}

export function snippet({ pipeline, ingest_url, status, pinned }: SnippetInput): string {
  const { script_filename: file, delivery_method } = pipeline.js_builder_config;
  const base = ingest_url.replace(/\/+$/, '');
  const path = encodeURIComponent(file);
  const attributes: [name: string, value: string][] = [];
  if (delivery_method === 'download') {
    // Hosted by the site itself, so events need to be told where to go.
    attributes.push(['src', `/${path}`], ['data-ingest-url', base]);
  } else {
    const version = pinned && status?.version_hash ? `/${status.version_hash}` : '';
    attributes.push(['src', `${base}/c/${encodeURIComponent(pipeline.pipeline_key)}${version}/${path}`]);
    // The collector sends to the origin of its own address; a service behind a path has to be named.
    if (URL.canParse(base) && new URL(base).pathname !== '/') attributes.push(['data-ingest-url', base]);
  }
  attributes.push(['data-pipeline-key', pipeline.pipeline_key]);
  if (pinned && status?.integrity) attributes.push(['integrity', status.integrity], ['crossorigin', 'anonymous']);
  return `<script async ${attributes.map(([name, value]) => `${name}="${escapeAttribute(value)}"`).join(' ')}></script>`;
}

function escapeAttribute(value: string): string {
  return value.replace(/[&"'<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
