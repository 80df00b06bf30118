"""Signs in, lists the pipelines and creates one, with the client that openapi-python-client generates in `firsthand`."""

import os

from firsthand import AuthenticatedClient, Client
from firsthand.api.authentication import login
from firsthand.api.pipelines import create_pipeline, list_pipelines
from firsthand.models import Error, ListPipelinesResult, LoginRequest, PipelineCreate, PipelineWithSecret, TokenPair

url = os.environ.get("FIRSTHAND_URL", "http://localhost:8080")
credentials = LoginRequest(email=os.environ["FIRSTHAND_EMAIL"], password=os.environ["FIRSTHAND_PASSWORD"])


def answered(answer, kind):
    """The answer, if it has this type."""
    if isinstance(answer, kind):
        return answer
    raise SystemExit(answer.error.message if isinstance(answer, Error) else f"unexpected answer: {answer}")


tokens = answered(login.sync(client=Client(base_url=url), body=credentials), TokenPair)
client = AuthenticatedClient(base_url=url, token=tokens.access_token)
listed = answered(list_pipelines.sync(client=client), ListPipelinesResult)
created = answered(create_pipeline.sync(client=client, body=PipelineCreate(name="Made with Python")), PipelineWithSecret)
print(f"{listed.total} pipelines; created {created.name} ({created.pipeline_key})")
