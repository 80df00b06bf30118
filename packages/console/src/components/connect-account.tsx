/** Leads to the vendor's authorization page. The vendor sends the browser back to the console, with the token in a new revision. */
import { Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, call } from '../api.ts';
import { failureText } from '../forms.ts';
import { RoleButton } from './role-button.tsx';

type Target = { templateId: string } | { integrationId: string };
const start = (target: Target) =>
  'templateId' in target
    ? api.POST('/v1/admin/integration-templates/{id}/connect', { params: { path: { id: target.templateId } } })
    : api.POST('/v1/admin/integrations/{id}/connect', { params: { path: { id: target.integrationId } } });

/** A template gets a new revision; an integration also uses it. */
export function ConnectAccount({ about, ...target }: { about: string } & Target) {
  const connect = useMutation({
    mutationFn: () => call(start(target)),
    onSuccess: ({ authorize_url }) => location.assign(authorize_url),
  });
  return (
    <>
      <Text size="sm">{about}</Text>
      <RoleButton needs="editor" mt="xs" onClick={() => connect.mutate()} loading={connect.isPending}>
        Connect the account
      </RoleButton>
      {connect.isError && (
        <Text size="sm" c="var(--bad)" role="alert" mt="xs">
          {failureText(connect.error)}
        </Text>
      )}
    </>
  );
}
