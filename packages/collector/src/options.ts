/** Who we are and where events go: attributes of the script tag first, then what was built in. */
const script = (document.currentScript || document.querySelector('[data-pipeline-key]')) as HTMLScriptElement | null;

export const option = (name: string): string | undefined => script?.dataset[name];
export const key = option('pipelineKey') || C_KEY;
export const endpoint = (option('ingestUrl') || (C_INGEST_URL ? C_INGEST_URL : new URL(script?.src || location.href).origin)).replace(
  /\/$/,
  '',
);
