/** The ways into this installation. They are set by the environment of the service; users turn on the second step themselves. */
import { Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { signInMethodsQuery } from '../../queries.ts';
import classes from './team.module.css';

export function SignInMethods() {
  const methods = useQuery(signInMethodsQuery());
  return (
    <section className={`panel ${classes.methods}`} aria-label="Ways to sign in">
      <Title order={2} mb="xs">
        Ways to sign in
      </Title>
      {methods.isPending ? (
        <Loading what="the ways to sign in" />
      ) : methods.isError ? (
        <Failed error={methods.error} retry={() => void methods.refetch()} />
      ) : (
        <dl className={classes.facts}>
          <Method name="Password" on={methods.data.local} setting="LOCAL_LOGIN">
            With a second step for users who turned it on.
          </Method>
          <Method name="Identity provider" on={methods.data.oidc} setting="OIDC_ISSUER">
            The account of your organisation, over OpenID Connect.
          </Method>
        </dl>
      )}
    </section>
  );
}
function Method({ name, on, setting, children }: { name: string; on: boolean; setting: string; children: string }) {
  return (
    <div>
      <dt>
        {name} <Tag tone={on ? 'ok' : 'neutral'}>{on ? 'on' : 'off'}</Tag>
      </dt>
      <dd className="dim">
        {children} <span className="mono">{setting}</span>
      </dd>
    </div>
  );
}
