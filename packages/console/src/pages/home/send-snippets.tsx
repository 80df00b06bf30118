/** How to send a first event: one sample order from this page, or a snippet with the real address and key. */
import { Button, Group, Tabs } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, call } from '../../api.ts';
import { Json } from '../../components/json.tsx';
import { failureText } from '../../forms.ts';
import { SAMPLE_BODY } from '../../sample-event.ts';
import { snippets } from './snippets.ts';

export function SendSnippets({ pipeline }: { pipeline: { id: string; pipeline_key: string } }) {
  const path = { id: pipeline.id };
  const collector = useQuery({
    queryKey: ['collector', pipeline.id],
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/status', { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.status === 'building' ? 3_000 : false),
  });
  const tag = useQuery({
    queryKey: ['snippet', pipeline.id, collector.data?.version_hash],
    enabled: collector.data?.status === 'ready',
    queryFn: () => call(api.GET('/v1/admin/pipelines/{id}/collector/snippet', { params: { path } })),
  });
  const texts = snippets(location.origin, pipeline.pipeline_key, tag.data?.snippet);
  return (
    <>
      <SendSample pipelineKey={pipeline.pipeline_key} />
      <Tabs defaultValue={texts[0]?.key ?? ''} keepMounted={false}>
        <Tabs.List aria-label="Ways to send an event">
          {texts.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {texts.map(({ key, label, text, note }) => (
          <Tabs.Panel key={key} value={key} pt="sm">
            <Json value={text} label={`${label} snippet`} />
            {note && <p className="dim">{note}</p>}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

function SendSample({ pipelineKey }: { pipelineKey: string }) {
  const send = useMutation({
    mutationFn: async () => {
      // Of a visitor who agreed to everything: vendors that need consent get it too.
      const context = { ...SAMPLE_BODY.context, consent: { categories: { analytics: true, marketing: true, advertising: true } } };
      const answer = await fetch('/v1/t', {
        method: 'POST',
        headers: { authorization: `Bearer ${pipelineKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...SAMPLE_BODY, context, messageId: crypto.randomUUID?.() ?? `sample-${Date.now()}` }),
      });
      if (!answer.ok) throw new Error(`The collection endpoint answered ${answer.status}. Use a snippet with its own address.`);
    },
  });
  return (
    <Group gap="xs" mb="sm">
      <Button onClick={() => send.mutate()} loading={send.isPending}>
        Send a sample order from here
      </Button>
      {send.isSuccess ? <span role="status">Sent.</span> : <span className="dim">or from where your events are:</span>}
      {send.isError && <p role="alert">{failureText(send.error)}</p>}
    </Group>
  );
}
