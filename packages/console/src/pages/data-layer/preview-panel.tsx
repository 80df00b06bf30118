import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Alert, Select, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { pipelinesQuery } from '../../queries.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';
import classes from './data-layer.module.css';
import { type Preview, previewDataLayer } from './preview.ts';

/** The effect of the settings on one event, recomputed as they change. */
export function PreviewPanel({ config }: { config: DataLayerConfig }) {
  const [text, setText] = useState(() => JSON.stringify(SAMPLE_BODY, null, 2));
  const [preview, setPreview] = useState<Preview>();
  const [shown, shownText] = [useDeferredValue(config), useDeferredValue(text)];
  // Routing rules may concern some pipelines only.
  const pipelines = useQuery(pipelinesQuery()).data?.pipelines ?? [];
  const [chosen, setChosen] = useState<string>();
  const pipelineId = chosen ?? pipelines[0]?.id;
  const asks = config.routing_rules.some(({ pipeline_ids }) => pipeline_ids !== undefined && pipeline_ids.length > 0);
  useEffect(() => {
    let current = true;
    void previewDataLayer(shown, shownText, pipelineId).then((next) => current && setPreview(next));
    return () => {
      current = false;
    };
  }, [shown, shownText, pipelineId]);
  return (
    <section className={`panel ${classes.preview}`} aria-label="Effect on an event">
      <Title order={2} mb="xs">
        Effect on an event
      </Title>
      {asks && (
        <Select
          size="xs"
          mb="xs"
          label="An event of"
          allowDeselect={false}
          value={pipelineId ?? null}
          data={pipelines.map(({ id: value, name: label }) => ({ value, label }))}
          onChange={(next) => setChosen(next ?? undefined)}
        />
      )}
      <Tabs defaultValue="result" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="result">Result</Tabs.Tab>
          <Tabs.Tab value="event">Sample event</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="event">
          <Editor label="Sample event" language="json" value={text} onChange={setText} minHeight={360} />
        </Tabs.Panel>
        <Tabs.Panel value="result">
          {preview === undefined ? null : preview.kind === 'invalid' ? (
            <Alert color="red">{preview.message}</Alert>
          ) : (
            <>
              {preview.faults.map(({ field, message }) => (
                <Alert key={field} color="red" mb="xs">
                  {field} {message}
                </Alert>
              ))}
              {preview.decisions.map(({ step, result, changed = [], detail }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: decisions have an order and no id
                <div key={at} className={classes.step}>
                  <b style={{ width: 84, flex: 'none' }}>{words(step)}</b>
                  <span>
                    <span className="dim">{words(result)}</span> {detail} <span className="mono">{changed.join(', ')}</span>
                  </span>
                </div>
              ))}
              {preview.dropped !== undefined && (
                <p>
                  <Tag tone="bad">dropped: {words(preview.dropped)}</Tag>
                </p>
              )}
              <p className="dim">Custom code runs on the server only and is left out here.</p>
              <Json value={preview.after} label="Event after processing" />
            </>
          )}
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}
