/** Who we are and where events go: attributes of the script tag first, then what was built in. */
import { attempt } from './page.ts';

const script = (document.currentScript || document.querySelector('script[data-pipeline-key]')) as HTMLScriptElement | null;

export const option = (name: string): string | undefined => (script ? script.dataset[name] : undefined);
export const key = option('pipelineKey') || C_KEY;
export const globalName = option('globalVariable') || C_GLOBAL;

/** `…/c/<key>/d.js` is served by the service itself, perhaps behind a path of its own; of another address the origin counts. */
const home = (src: string) => {
  const at = src.indexOf(`/c/${C_KEY}/`);
  return at > 0 ? src.slice(0, at) : new URL(src).origin;
};
export const endpoint = (
  option('ingestUrl') ||
  C_INGEST_URL ||
  attempt(() => home((script as HTMLScriptElement).src)) ||
  location.origin
).replace(/\/+$/, '');
