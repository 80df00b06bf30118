/** Who we are and where events go: attributes of the script tag first, then what was built in. */
const script = (document.currentScript || document.querySelector('[data-pipeline-key]')) as HTMLScriptElement | null;

export const option = (name: string): string | undefined => script?.dataset[name];
export const key = option('pipelineKey') || C_KEY;
// The origin by hand: the first URL object of a page takes longer than all else in here. And no pattern where none is needed: in a new
// process each costs the page a tenth of a millisecond.
export const endpoint =
  option('ingestUrl')?.replace(/\/$/, '') || (C_INGEST_URL ? C_INGEST_URL : (script?.src || location.href).split('/', 3).join('/'));
