/** The requests that a mapping makes of an event, or why it makes none. */
import { Json } from './json.tsx';
import { Tag, words } from './tag.tsx';

export interface VendorRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
}
export type VendorResult =
  | { kind: 'requests'; requests: VendorRequest[]; warnings: string[] }
  | { kind: 'dropped' | 'failed'; reason: string };

export function VendorRequests({ result, maxHeight }: { result: VendorResult; maxHeight?: number }) {
  if (result.kind !== 'requests')
    return (
      <p>
        <Tag tone={result.kind === 'failed' ? 'bad' : 'warn'}>{result.kind}</Tag> {words(result.reason)}
      </p>
    );
  return (
    <>
      {result.requests.map(({ method, url, headers, body }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: requests of one event have an order and no id
        <div key={at} style={{ marginBottom: 12 }}>
          <p className="mono" style={{ overflowWrap: 'anywhere', margin: '4px 0' }}>
            <b>{method}</b> {url}
          </p>
          <p className="mono dim" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line', margin: '4px 0' }}>
            {Object.entries(headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          </p>
          {body !== null && <Json value={body} label="Body of the request" {...(maxHeight === undefined ? {} : { maxHeight })} />}
        </div>
      ))}
      {result.warnings.map((warning) => (
        <p key={warning}>
          <Tag tone="warn">warning</Tag> {warning}
        </p>
      ))}
    </>
  );
}
