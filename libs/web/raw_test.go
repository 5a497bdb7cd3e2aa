package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

func TestRawJSONIsAnsweredByteForByte(t *testing.T) {
	for _, text := range []string{`{"b": 1.0, "a": "<&>\u2028", "b": 2}`, "[ ]\n", ""} {
		a, _ := app(t, web.Options{}, func(c *fiber.Ctx) error {
			raw := body.Raw(text)
			return c.JSON(&raw)
		})
		resp, err := a.Test(httptest.NewRequest(http.MethodGet, "/x/1", nil), -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != text || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%q came as %q, %v", text, got, err)
		}
	}
}
