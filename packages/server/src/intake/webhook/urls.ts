/** The URLs that a sender may have used for a source: some signature schemes cover the URL. */
export function sourceUrls(sourceId: string, ingestUrl: string | undefined, host: string, requestUrl?: string): string[] {
  const paths = new Set([`/v1/webhook?source=${sourceId}`, ...(requestUrl === undefined ? [] : [requestUrl])]);
  const bases = ingestUrl === undefined ? [`https://${host}`, `http://${host}`] : [ingestUrl];
  return bases.flatMap((base) => [...paths].map((path) => base + path));
}
