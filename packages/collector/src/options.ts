/** Pipeline key and ingest URL: from the attributes of the script tag, else built in. */
const script = (document.currentScript || document.querySelector('[data-pipeline-key]')) as HTMLScriptElement | null;

export const option = (name: string): string | undefined => script?.dataset[name];
export const key = option('pipelineKey') || C_KEY;
// Split instead of a URL object: a page's first one takes longer than the rest of this file. A pattern is avoided where possible, since
// each costs a new process a tenth of a millisecond.
export const endpoint =
  option('ingestUrl')?.replace(/\/$/, '') || (C_INGEST_URL ? C_INGEST_URL : (script?.src || location.href).split('/', 3).join('/'));
