// Signs in, lists the pipelines and creates one, with the client that oapi-codegen generates in package firsthand.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.com/clients/firsthand"
)

func main() {
	ctx := context.Background()
	url := os.Getenv("FIRSTHAND_URL")

	anonymous, err := firsthand.NewClientWithResponses(url)
	check(err)
	login, err := anonymous.LoginWithResponse(ctx, firsthand.LoginRequest{
		Email:    os.Getenv("FIRSTHAND_EMAIL"),
		Password: os.Getenv("FIRSTHAND_PASSWORD"),
	})
	check(err)
	if login.JSON200 == nil {
		log.Fatalf("%s: %s", login.Status(), login.Body)
	}

	client, err := firsthand.NewClientWithResponses(url, firsthand.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+login.JSON200.AccessToken)
			return nil
		}))
	check(err)
	list, err := client.ListPipelinesWithResponse(ctx, &firsthand.ListPipelinesParams{})
	check(err)
	if list.JSON200 == nil {
		log.Fatalf("%s: %s", list.Status(), list.Body)
	}
	created, err := client.CreatePipelineWithResponse(ctx, firsthand.PipelineCreate{Name: "Made with Go"})
	check(err)
	if created.JSON201 == nil {
		log.Fatalf("%s: %s", created.Status(), created.Body)
	}
	fmt.Printf("%d pipelines; created %s (%s)\n", list.JSON200.Total, created.JSON201.Name, created.JSON201.PipelineKey)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
