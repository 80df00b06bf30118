export function docsPage(document: object): string {
  return `<!doctype html><title>Firsthand API</title><pre>${JSON.stringify(document, null, 2).replace(/[<&]/g, (c) => (c === '<' ? '&lt;' : '&amp;'))}</pre>`;
}
