/** A pasted payload and the event that the source would make of it, by the code that maps webhooks on the server. */
import { findSource } from '@firsthand/catalog/sources/index.ts';
import { compileMapping } from '@firsthand/core/inbound/map-webhook.ts';
import type { Json as JsonValue } from '@firsthand/core/json.ts';
import { Alert } from '@mantine/core';
import { useDeferredValue, useMemo, useState } from 'react';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import type { Source } from './source-panel.tsx';

export function Payload({ source }: { source: Source }) {
  const [text, setText] = useState('{\n  "type": "example"\n}');
  const shown = useDeferredValue(text);
  const result = useMemo(() => {
    try {
      const { map } = compileMapping(findSource(source.provider), source as Parameters<typeof compileMapping>[1]);
      return map({ body: JSON.parse(shown) as JsonValue, headers: {}, query: {} }, Date.now());
    } catch (error) {
      return { ok: false as const, reason: error instanceof Error ? error.message : String(error) };
    }
  }, [source, shown]);
  return (
    <div style={{ display: 'grid', gridTemplateColumns: 'repeat(auto-fit, minmax(280px, 1fr))', gap: 16 }}>
      <Editor label="Payload of the webhook" language="json" value={text} onChange={setText} />
      {result.ok ? (
        <Json value={result.events.length === 1 ? result.events[0] : result.events} label="The event" />
      ) : (
        <Alert color="red">{result.reason}</Alert>
      )}
    </div>
  );
}
