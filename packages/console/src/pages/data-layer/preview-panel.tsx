import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { Alert, Select, Tabs, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useState } from 'react';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { PipelineSelect } from '../../components/server-select.tsx';
import { Tag, words } from '../../components/tag.tsx';
import { pipelinesQuery } from '../../queries.ts';
import { Diff } from '../events/diff.tsx';
import { stepName } from '../events/step.tsx';
import { diffsOf } from '../events/step-diff.ts';
import classes from './data-layer.module.css';
import { type Preview, previewDataLayer } from './preview.ts';
import { ABOUT_EARLIER, SAMPLES, type SampleKey } from './samples.ts';
import { useDataLayerSearch } from './search.ts';

/** The effect of the settings on one event, recomputed as they change. */
export function PreviewPanel({ config }: { config: DataLayerConfig }) {
  const [{ sample, pipeline: chosen }, setSearch] = useDataLayerSearch();
  const { body, earlier } = SAMPLES[sample];
  /** What was typed in a sample, by the sample. */
  const [typed, setTyped] = useState<{ of: SampleKey; text: string }>();
  const text = typed?.of === sample ? typed.text : JSON.stringify(body, null, 2);
  const [preview, setPreview] = useState<Preview>();
  const [shown, shownText] = [useDeferredValue(config), useDeferredValue(text)];
  // Routing rules may concern some pipelines only.
  const pipelines = useQuery(pipelinesQuery()).data?.pipelines ?? [];
  const pipelineId = chosen ?? pipelines[0]?.id;
  const asks = config.routing_rules.some(({ pipeline_ids }) => pipeline_ids !== undefined && pipeline_ids.length > 0);
  useEffect(() => {
    let current = true;
    void previewDataLayer(shown, shownText, { pipelineId, earlier }).then((next) => current && setPreview(next));
    return () => {
      current = false;
    };
  }, [shown, shownText, pipelineId, earlier]);
  return (
    <section className={`panel ${classes.preview}`} aria-label="Effect on an event">
      <Title order={2} mb="xs">
        Effect on an event
      </Title>
      <Select
        size="xs"
        mb="xs"
        aria-label="Sample"
        allowDeselect={false}
        value={sample}
        data={Object.entries(SAMPLES).map(([value, { label }]) => ({ value, label }))}
        onChange={(next) => next !== null && setSearch({ sample: next })}
      />
      {earlier.length > 0 && <p className="dim">{ABOUT_EARLIER}</p>}
      {asks && (
        <PipelineSelect
          size="xs"
          mb="xs"
          label="In the pipeline"
          allowDeselect={false}
          value={pipelineId ?? null}
          onChange={(next) => next !== null && setSearch({ pipeline: next })}
        />
      )}
      <Tabs defaultValue="result" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="result">Result</Tabs.Tab>
          <Tabs.Tab value="event">Sample event</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="event">
          <Editor
            label="Sample event"
            language="json"
            value={text}
            onChange={(next) => setTyped({ of: sample, text: next })}
            minHeight={360}
          />
        </Tabs.Panel>
        <Tabs.Panel value="result">
          {preview === undefined ? null : preview.kind === 'invalid' ? (
            <Alert color="red">{preview.message}</Alert>
          ) : (
            <Result preview={preview} />
          )}
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}

function Result({ preview }: { preview: Extract<Preview, { kind: 'ok' }> }) {
  const { faults, decisions, received, after, dropped } = preview;
  const diffs = diffsOf(decisions, received, after as unknown as Record<string, unknown>); // compared by path, whatever its fields
  return (
    <>
      {faults.length > 0 && <p className="dim">Settings with errors are left out here until they are fixed.</p>}
      <ol className={classes.steps}>
        {decisions.map(({ step, result, detail }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: decisions have an order and no id
          <li key={at} className={classes.step}>
            <b className={classes.stepName}>{stepName(step)}</b>
            <div className={classes.stepEffect}>
              <span className="dim">{words(result)}</span> {detail}
              <Diff lines={diffs[at] ?? []} open />
            </div>
          </li>
        ))}
      </ol>
      {dropped !== undefined && (
        <p>
          <Tag tone="bad">dropped: {words(dropped)}</Tag>
        </p>
      )}
      <p className="dim">Custom code runs on the server only and is left out here.</p>
      <Json value={after} label="Event after processing" />
    </>
  );
}
